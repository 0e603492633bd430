// SPDX-License-Identifier: GPL-2.0-only
/*
 * ivshmem: machines that share the BAR of a QEMU device.
 *
 * Invariants:
 *  - One write-back mapping of the whole BAR is held for the device's life;
 *    user mappings are write-back only beside it.
 *  - The node id comes from a parameter, never from the device: IVPosition is
 *    the order of connecting. It serves as the doorbell's address alone.
 *  - A bell is {vector:16, IVPosition:16} plus one, so that 0 means none.
 *  - A device without interrupts (ivshmem-plain) has no doorbell: its ops
 *    have no ring, and the core's timer takes its place.
 *  - A doorbell is a hint. One that rings too often is masked for a while;
 *    sleepers have timers.
 *  - remove() may come while files are open: they are dead afterwards.
 */
#include <linux/delay.h>
#include <linux/idr.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include "ub.h"

#define IVSHMEM_VENDOR		0x1af4
#define IVSHMEM_DEVICE		0x1110
#define IVSHMEM_REGS		0
#define IVSHMEM_MEM		2

#define IVSHMEM_IVPOSITION	8
#define IVSHMEM_DOORBELL	12

#define IVSHMEM_VECTOR		0
#define IVSHMEM_DEVICES		8

#define FLOOD_MS		100

static int node[IVSHMEM_DEVICES] = { [0 ... IVSHMEM_DEVICES - 1] = -1 };
static int nnodes;
module_param_array(node, int, &nnodes, 0444);
MODULE_PARM_DESC(node, "node ids, for devices in the order of probing; those beyond are left alone");

static unsigned int flood = 20000;
module_param(flood, uint, 0644);
MODULE_PARM_DESC(flood, "doorbells in 100 ms that are a flood: masked for as long then");

/**
 * struct ivshmem - one device
 * @pdev: the device
 * @nth: its index in node[]
 * @fabric: its fabric
 * @regs: BAR 0
 * @mem: BAR 2
 * @start: its bus address
 * @position: own IVPosition
 * @irq: of the doorbell, or 0
 * @since: start of the period in which @irqs are counted, jiffies
 * @irqs: interrupts in it
 * @closing: no more masking
 * @unmask: ends a flood's mask
 */
struct ivshmem {
	struct pci_dev *pdev;
	int nth;
	struct ub_fabric *fabric;
	void __iomem *regs;
	void *mem;
	phys_addr_t start;
	u32 position;
	int irq;
	unsigned long since;
	u32 irqs;
	bool closing;
	struct delayed_work unmask;
};

/* That a ring may be on its way, where a host has more VMs than CPUs. */
#define RINGING_MS	50

static DEFINE_IDA(ivshmem_nth);

static unsigned long ivshmem_pfn(struct ub_fabric *f, u64 offset)
{
	struct ivshmem *iv = f->priv;

	return PHYS_PFN(iv->start + offset);
}

static void ivshmem_ring(struct ub_fabric *f, u64 bell)
{
	struct ivshmem *iv = f->priv;
	u32 position = (bell - 1) & 0xffff, vector = (bell - 1) >> 16 & 0xffff;

	writel(position << 16 | vector, iv->regs + IVSHMEM_DOORBELL);
}

static u64 ivshmem_bell(struct ub_fabric *f)
{
	struct ivshmem *iv = f->priv;

	return (iv->position | (u64)IVSHMEM_VECTOR << 16) + 1;
}

static const struct ub_transport_ops ivshmem_ops = {
	.name	= "ivshmem",
	.pfn	= ivshmem_pfn,
	.ring	= ivshmem_ring,
	.bell	= ivshmem_bell,
};

static const struct ub_transport_ops ivshmem_plain_ops = {
	.name	= "ivshmem-plain",
	.pfn	= ivshmem_pfn,
};

static irqreturn_t ivshmem_irq(int irq, void *data)
{
	struct ivshmem *iv = data;

	if (time_after(jiffies, iv->since + msecs_to_jiffies(FLOOD_MS))) {
		iv->since = jiffies;
		iv->irqs = 0;
	}
	if (++iv->irqs == READ_ONCE(flood) && !READ_ONCE(iv->closing)) {
		dev_warn_ratelimited(&iv->pdev->dev, "doorbell flood: masked for a while\n");
		disable_irq_nosync(irq);
		schedule_delayed_work(&iv->unmask, msecs_to_jiffies(FLOOD_MS));
	}
	ub_fabric_bell(iv->fabric);
	return IRQ_HANDLED;
}

static void ivshmem_unmask(struct work_struct *work)
{
	struct ivshmem *iv = container_of(to_delayed_work(work),
					  struct ivshmem, unmask);

	enable_irq(iv->irq);
}

/* Interrupts from here on; the fabric is not up yet and ignores them. */
static int ivshmem_irq_on(struct ivshmem *iv)
{
	struct pci_dev *pdev = iv->pdev;
	int err;

	err = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX);
	if (err < 0)
		return err;
	iv->position = readl(iv->regs + IVSHMEM_IVPOSITION);
	if (iv->position > 0xffff) {
		err = -EIO;
		goto free;
	}
	iv->irq = pci_irq_vector(pdev, IVSHMEM_VECTOR);
	iv->since = jiffies;
	err = request_irq(iv->irq, ivshmem_irq, 0, "ub_ivshmem", iv);
	if (!err)
		return 0;
free:
	pci_free_irq_vectors(pdev);
	iv->irq = 0;
	return err;
}

static void ivshmem_irq_off(struct ivshmem *iv)
{
	if (!iv->irq)
		return;
	WRITE_ONCE(iv->closing, true);
	synchronize_irq(iv->irq);
	flush_delayed_work(&iv->unmask);
	free_irq(iv->irq, iv);
	pci_free_irq_vectors(iv->pdev);
}

static enum ub_memtype ivshmem_memtype(struct ivshmem *iv)
{
	enum ub_memtype type = ub_kernel_memtype(iv->mem);

	if (type == UB_MEMTYPE_UC)
		dev_warn(&iv->pdev->dev,
			 "the BAR is mapped uncached and will be slow: place it above 4 GiB (1 GiB or more)\n");
	return type;
}

static int ivshmem_attach(struct ivshmem *iv, u32 id)
{
	struct pci_dev *pdev = iv->pdev;
	/* Both kinds have the same ids. */
	bool doorbell = pci_msix_vec_count(pdev) > 0;
	int err;

	iv->fabric = ub_fabric_alloc(doorbell ? &ivshmem_ops : &ivshmem_plain_ops,
				     iv, id, THIS_MODULE);
	if (IS_ERR(iv->fabric))
		return PTR_ERR(iv->fabric);
	iv->fabric->dev.parent = &pdev->dev;
	if (doorbell) {
		pci_set_master(pdev);
		err = ivshmem_irq_on(iv);
		if (err)
			goto put;
	}
	err = ub_fabric_register(iv->fabric, iv->mem,
				 pci_resource_len(pdev, IVSHMEM_MEM),
				 ivshmem_memtype(iv));
	if (!err)
		return 0;
	ivshmem_irq_off(iv);
put:
	ub_fabric_put(iv->fabric);
	return err;
}

/* Take the lowest free index, and the node id that was given for it. */
static int ivshmem_start(struct ivshmem *iv)
{
	int err = -ENODEV;

	iv->nth = ida_alloc_max(&ivshmem_nth, IVSHMEM_DEVICES - 1, GFP_KERNEL);
	if (iv->nth < 0)
		return iv->nth;
	if (node[iv->nth] >= 0)
		err = ivshmem_attach(iv, node[iv->nth]);
	else
		dev_info(&iv->pdev->dev, "no node id given for device %d: left alone\n",
			 iv->nth);
	if (err)
		ida_free(&ivshmem_nth, iv->nth);
	return err;
}

static int ivshmem_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct ivshmem *iv;
	int err;

	iv = devm_kzalloc(&pdev->dev, sizeof(*iv), GFP_KERNEL);
	if (!iv)
		return -ENOMEM;
	iv->pdev = pdev;
	INIT_DELAYED_WORK(&iv->unmask, ivshmem_unmask);
	err = pcim_enable_device(pdev);
	if (err)
		return err;
	err = pci_request_regions(pdev, "ub_ivshmem");
	if (err)
		return err;
	err = -ENOMEM;
	iv->start = pci_resource_start(pdev, IVSHMEM_MEM);
	iv->regs = pcim_iomap(pdev, IVSHMEM_REGS, 0);
	if (!iv->regs)
		goto release;
	iv->mem = memremap(iv->start, pci_resource_len(pdev, IVSHMEM_MEM),
			   MEMREMAP_WB);
	if (!iv->mem)
		goto release;
	pci_set_drvdata(pdev, iv);
	err = ivshmem_start(iv);
	if (!err)
		return 0;
	memunmap(iv->mem);
release:
	pci_release_regions(pdev);
	return err;
}

static void ivshmem_remove(struct pci_dev *pdev)
{
	struct ivshmem *iv = pci_get_drvdata(pdev);

	ub_fabric_unregister(iv->fabric);
	/*
	 * Nobody begins to ring a node that left. What is rung already shall meet
	 * a device: QEMU 7.2 without irqfd may die of a ring that it delivers later.
	 */
	if (iv->irq)
		msleep(RINGING_MS);
	ivshmem_irq_off(iv);
	ub_fabric_put(iv->fabric);
	memunmap(iv->mem);
	pci_release_regions(pdev);
	ida_free(&ivshmem_nth, iv->nth);
}

static const struct pci_device_id ivshmem_ids[] = {
	{ PCI_DEVICE(IVSHMEM_VENDOR, IVSHMEM_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, ivshmem_ids);

static struct pci_driver ivshmem_driver = {
	.name		= "ub_ivshmem",
	.id_table	= ivshmem_ids,
	.probe		= ivshmem_probe,
	.remove		= ivshmem_remove,
};
module_pci_driver(ivshmem_driver);

MODULE_DESCRIPTION("ub transport: memory shared between virtual machines");
MODULE_LICENSE("GPL");
